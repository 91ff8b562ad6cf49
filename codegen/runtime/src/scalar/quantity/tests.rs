//! The recorded behaviour of quantities as tables, and their laws as properties.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn texts_become_canonical() {
    let table = [
        // Decimal suffixes.
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("5.", "5."),
        ("1000", "1k"),
        ("1024", "1024"),
        ("0.001", "1m"),
        ("100000", "100k"),
        ("1000m", "1"),
        ("0.1m", "100u"),
        ("12E", "12E"),
        ("12000E", "12000E"),
        ("-1.5", "-1500m"),
        ("1000000000000000000000", "1000E"),
        // Binary suffixes.
        ("1024Ki", "1Mi"),
        ("1Mi", "1Mi"),
        ("1536Mi", "1536Mi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0.5Mi", "512Ki"),
        ("1.1Ki", "1126400m"),
        ("-1024Ki", "-1Mi"),
        ("0.0001Ki", "102400u"),
        ("123456Gi", "123456Gi"),
        // Exponents.
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("12e5", "1200e3"),
        ("1e+6", "1e+6"),
        ("1e-3", "1e-3"),
        ("100e-2", "1"),
        ("1500000e0", "1500e3"),
        // Kept as they look canonical already.
        ("1.500", "1.500"),
        ("+1", "+1"),
        ("007", "007"),
        ("+5Gi", "+5Gi"),
        ("+8Gi", "8Gi"),
        ("1.500Gi", "1536Mi"),
        ("1.123456789", "1.123456789"),
        ("123456789012345678", "123456789012345678"),
        ("+1234567890123456789", "1234567890123456789"),
        ("1.000", "1"),
        // Zero has one text.
        ("0", "0"),
        ("-0", "0"),
        ("00", "0"),
        ("0.0", "0"),
        ("0Gi", "0"),
        ("0e99999", "0"),
        // Finer than a billionth: rounded up, away from zero.
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("1.0000000001", "1000000001n"),
        ("1.1n", "2n"),
        ("1e-1000000", "1e-9"),
        ("0.00000000000000000001Ki", "1n"),
        ("1.00000000000000000000000000000000000001Gi", "1073741824000000001n"),
        // The cap of binary quantities.
        ("8Ei", "9223372036854775807"),
        ("7Ei", "7Ei"),
        ("-99999999999999999999999999999999999999999Ei", "-9223372036854775807"),
    ];
    for (text, canonical) in table {
        assert_eq!(quantity(text).to_string(), canonical, "{text}");
        assert_eq!(quantity(canonical), quantity(text), "{text}");
    }
}

#[test]
fn formats_are_taken_from_the_text() {
    let table = [
        ("1", QuantityFormat::DecimalSi),
        ("1m", QuantityFormat::DecimalSi),
        ("1E", QuantityFormat::DecimalSi),
        ("1Ki", QuantityFormat::BinarySi),
        ("0.5Ki", QuantityFormat::BinarySi),
        ("0.0001Ki", QuantityFormat::DecimalSi),
        ("1e0", QuantityFormat::DecimalExponent),
        ("1E0", QuantityFormat::DecimalExponent),
    ];
    for (text, format) in table {
        assert_eq!(quantity(text).format(), format, "{text}");
    }
}

#[test]
fn other_texts_are_refused() {
    let shape = [
        "", "+", "-", ".", "m", "Ki", "e3", "a", "1.2.3", "1 Gi", " 1", "1_000", "1kB", "--1", "0x1", "1é",
        "1e1.5",
    ];
    for text in shape {
        assert_eq!(text.parse::<Quantity>(), Err(ScalarError::QuantityShape), "{text:?}");
    }
    for text in ["1K", "1mm", "1i", "1e", "1Ee3", "1Ki3", "1e99999999999999999999", "1e+", "1k3", "1ki"] {
        assert_eq!(text.parse::<Quantity>(), Err(ScalarError::QuantitySuffix), "{text:?}");
    }
    for text in ["1e30", "-1e30", "300000000000E", "1e1000000", &"9".repeat(60)] {
        assert_eq!(text.parse::<Quantity>(), Err(ScalarError::QuantityRange), "{text:?}");
    }
    assert_eq!(
        "a".parse::<Quantity>().unwrap_err().to_string(),
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    );
    assert_eq!("1K".parse::<Quantity>().unwrap_err().to_string(), "unable to parse quantity's suffix");
}

#[test]
fn on_the_wire_numbers_are_read_and_strings_written() {
    let table = [
        (json!(1), "1"),
        (json!(-1000), "-1k"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!(0.5), "500m"),
        (json!(1e3), "1k"),
        (json!(" 5Mi "), "5Mi"),
        (json!("0"), "0"),
    ];
    for (wire, text) in table {
        let value: Quantity = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&value).unwrap(), json!(text), "{wire}");
    }
    for wire in [json!(null), json!(true), json!([]), json!(""), json!(1e300)] {
        assert!(serde_json::from_value::<Quantity>(wire.clone()).is_err(), "{wire}");
    }
    assert_eq!(quantity("1.5").shown(), "\"1500m\"");
}

#[test]
fn equal_amounts_are_equal() {
    let table =
        [("1", "1000m"), ("1Ki", "1024"), ("1e3", "1k"), ("0", "0Gi"), ("-0", "0"), ("1.500", "1500m")];
    for (a, b) in table {
        assert_eq!(quantity(a), quantity(b));
    }
    assert_eq!(quantity("1.500").to_string(), "1.500");
    assert_eq!(quantity("1.5").to_string(), "1500m");
    assert!(
        quantity("-1") < quantity("0") && quantity("1n") < quantity("1u") && quantity("1G") < quantity("1Gi")
    );
    assert_eq!((quantity("-1").sign(), quantity("0").sign(), quantity("1n").sign()), (-1, 0, 1));
    assert!(quantity("0Gi").is_zero() && !quantity("1n").is_zero());
    assert_eq!(Quantity::default().to_string(), "0");
}

#[test]
fn sums_take_the_left_format_unless_it_is_zero() {
    let table = [
        ("1", "500m", "1500m", "500m"),
        ("1Gi", "1", "1073741825", "1073741823"),
        ("1Gi", "1Gi", "2Gi", "0"),
        ("0", "1Mi", "1Mi", "-1Mi"),
        ("0Gi", "1e6", "1e6", "-1e6"),
        ("1e3", "1Ki", "2024", "-24"),
        ("1Ki", "0.5", "1024500m", "1023500m"),
    ];
    for (a, b, sum, difference) in table {
        let (a, b) = (quantity(a), quantity(b));
        assert_eq!(a.checked_add(&b).unwrap().to_string(), sum, "{a} + {b}");
        assert_eq!(a.checked_sub(&b).unwrap().to_string(), difference, "{a} - {b}");
    }
    let large = quantity("170000000000E");
    assert!(large.checked_add(&large).is_none());
    assert!(quantity("-170000000000E").checked_sub(&large).is_none());
}

#[test]
fn amounts_are_rounded_up_to_thousandths() {
    for (text, expected, is_whole) in [
        ("100u", "1m", false),
        ("-100u", "-1m", false),
        ("1.0004", "1001m", false),
        ("0.9999", "1", true),
        ("1.073741824107374183Gi", "1152921504723m", false),
        ("0.1Gi", "107374182400m", false),
        ("1500m", "1500m", false),
        // What is not rounded keeps its text.
        ("1.500", "1.500", false),
        ("1000e-3", "1", true),
        ("1e3", "1e3", true),
        ("1E", "1E", true),
        ("8Ei", "9223372036854775807", true),
        ("10E", "10E", true),
        ("0", "0", true),
    ] {
        let mut amount = quantity(text);
        amount.round_up_to_milli();
        assert_eq!((amount.to_string().as_str(), amount.is_whole()), (expected, is_whole), "{text}");
    }
}

#[test]
fn whole_numbers_are_rounded_up_and_saturate() {
    let table = [
        ("1", 1, 1000),
        ("1m", 1, 1),
        ("1n", 1, 1),
        ("-1n", -1, -1),
        ("-1.5", -2, -1500),
        ("1.5Gi", 1_610_612_736, 1_610_612_736_000),
        ("9223372036854775807", i64::MAX, i64::MAX),
        ("10E", i64::MAX, i64::MAX),
        ("-10E", i64::MIN, i64::MIN),
        ("0", 0, 0),
    ];
    for (text, value, milli) in table {
        assert_eq!((quantity(text).value(), quantity(text).milli_value()), (value, milli), "{text}");
    }
    assert_eq!(Quantity::new(2048, QuantityFormat::BinarySi).to_string(), "2Ki");
    assert_eq!(Quantity::new(i64::MIN, QuantityFormat::DecimalSi).to_string(), "-9223372036854775808");
}

/// Texts of every shape; few are canonical, not all are valid.
fn any_text() -> impl Strategy<Value = String> {
    "[-+]?[0-9]{0,22}([.][0-9]{0,25})?(|n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][-+]?[0-9]{1,2})"
}

fn any_format() -> impl Strategy<Value = QuantityFormat> {
    prop_oneof![
        Just(QuantityFormat::DecimalSi),
        Just(QuantityFormat::BinarySi),
        Just(QuantityFormat::DecimalExponent)
    ]
}

/// A text, and the same amount as a fraction of billionths, by arithmetic of its own.
fn text_and_fraction() -> impl Strategy<Value = (String, i128, i128)> {
    const UNITS: [(&str, i128); 8] = [
        ("n", 1),
        ("u", 1_000),
        ("m", 1_000_000),
        ("", ONE),
        ("k", 1_000 * ONE),
        ("M", 1_000_000 * ONE),
        ("Ki", 1_024 * ONE),
        ("Mi", 1_048_576 * ONE),
    ];
    (-9_999_i128..10_000, 0..4_u32, 0..UNITS.len()).prop_map(|(digits, decimals, unit)| {
        let (suffix, unit) = UNITS[unit];
        let denominator = 10_i128.pow(decimals);
        let sign = if digits < 0 { "-" } else { "" };
        let (whole, rest) = (digits.abs() / denominator, digits.abs() % denominator);
        let fraction =
            if decimals == 0 { String::new() } else { format!(".{rest:0width$}", width = decimals as usize) };
        (format!("{sign}{whole}{fraction}{suffix}"), digits * unit, denominator)
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(text in any_text()) {
        if let Ok(value) = text.parse::<Quantity>() {
            prop_assert_eq!(value.to_string().parse::<Quantity>(), Ok(value));
        }
    }

    #[test]
    fn the_canonical_text_is_a_fixed_point(nanos: i128, shift in 0..127_u32, format in any_format()) {
        let value = Quantity { nanos: nanos >> shift, format, text: None };
        // Capped or refused when read as a binary quantity or as the one value that has no opposite.
        prop_assume!(value.nanos.unsigned_abs() <= i64::MAX as u128 * ONE.unsigned_abs());
        let read = quantity(&value.to_string());
        prop_assert_eq!(&read, &value);
        prop_assert_eq!(read.to_string(), value.to_string());
        let again = Quantity { text: None, ..read.clone() };
        prop_assert_eq!(again.to_string(), value.to_string());
    }

    #[test]
    fn values_are_those_of_fractions((text, numerator, denominator) in text_and_fraction()) {
        let exact = numerator / denominator + (numerator % denominator).signum();
        prop_assert_eq!(quantity(&text).nanos, exact, "{}", text);
    }

    #[test]
    fn the_order_is_that_of_fractions(a in text_and_fraction(), b in text_and_fraction()) {
        let expected = (a.1 * b.2).cmp(&(b.1 * a.2));
        let found = quantity(&a.0).cmp(&quantity(&b.0));
        // Rounding may make two amounts equal, and never swaps them.
        let rounded = a.1 % a.2 != 0 || b.1 % b.2 != 0;
        prop_assert!(found == expected || (rounded && found == Ordering::Equal), "{} and {}", a.0, b.0);
    }

    #[test]
    fn sums_and_differences_cancel(a in any_text(), b in any_text()) {
        if let (Ok(a), Ok(b)) = (a.parse::<Quantity>(), b.parse::<Quantity>())
            && let Some(sum) = a.checked_add(&b)
        {
            prop_assert_eq!(sum.checked_sub(&b), Some(a.clone()));
            prop_assert_eq!(b.checked_add(&a), Some(sum));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-+.0-9eEinumkKMGTPa é]{0,50}") {
        if let Ok(value) = text.parse::<Quantity>() {
            // Rounding up never gives zero for something.
            prop_assert_eq!(value.value().signum() as i32, value.sign());
            prop_assert_eq!(value.milli_value().signum() as i32, value.sign());
        }
    }
}
