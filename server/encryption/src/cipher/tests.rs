//! Published vectors, and what cannot be opened.

use super::{Algorithm, Cipher, aes_cbc::AesCbc, aes_gcm::AesGcm, secretbox::Secretbox};

const ALL: [Algorithm; 3] = [Algorithm::AesGcm, Algorithm::AesCbc, Algorithm::Secretbox];
const VALUE: &[u8] = br#"{"kind":"Secret","data":{"password":"c2VjcmV0"}}"#;

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> = hexadecimal.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Test case 16 of "The Galois/Counter Mode of Operation" by its authors.
#[test]
fn gcm_is_that_of_its_authors() {
    let cipher =
        AesGcm::new(&bytes("feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308")).unwrap();
    let sealed = bytes(
        "cafebabefacedbaddecaf888 \
         522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa \
         8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662 76fc6ece0f4e1768cddf8853bb2d551b",
    );
    let text = bytes(
        "d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72 \
         1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b39",
    );
    let place = bytes("feedfacedeadbeeffeedfacedeadbeef abaddad2");
    assert_eq!(cipher.open(&place, &sealed).unwrap(), text);
    assert!(cipher.open(b"elsewhere", &sealed).is_err());
}

/// NIST SP 800-38A, F.2.5, and the block that fills it up.
#[test]
fn cbc_is_that_of_the_standard() {
    let cipher =
        AesCbc::new(&bytes("603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4")).unwrap();
    let sealed = bytes(
        "000102030405060708090a0b0c0d0e0f \
         f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d \
         39f23369a9d9bacfa530e26304231461 b2eb05e2c39be9fcda6c19078c6a9d1b \
         3f461796d6b0d6b2e0c2a72b4d80e644",
    );
    let text = bytes(
        "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51 \
         30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710",
    );
    assert_eq!(cipher.decrypt(&sealed).unwrap(), text);
    assert!(cipher.open(&sealed).is_err(), "that is no object");
}

/// The example of `crypto_secretbox` of the library that it comes from.
#[test]
fn secretbox_is_that_of_nacl() {
    let cipher =
        Secretbox::new(&bytes("1b27556473e985d462cd51197a9a46c7 6009549eac6474f206c4ee0844f68389")).unwrap();
    let sealed = bytes(
        "69696ee955b62b73cd62bda875fc73d6 8219e0036b7a0b37 \
         f3ffc7703f9400e52a7dfb4b3d3305d9 8e993b9f48681273c29650ba32fc76ce \
         48332ea7164d96a4476fb8c531a1186a c0dfc17c98dce87b4da7f011ec48c972 \
         71d2c20f9b928fe2270d6fb863d51738 b48eeee314a7cc8ab932164548e526ae \
         90224368517acfeabd6bb3732bc0e9da 99832b61ca01b6de56244a9e88d5f9b3 \
         7973f622a43d14a6599b1f654cb45a74 e355a5",
    );
    let text = bytes(
        "be075fc53c81f2d5cf141316ebeb0c7b 5228c52a4c62cbd44b66849b64244ffc \
         e5ecbaaf33bd751a1ac728d45e6c6129 6cdc3c01233561f41db66cce314adb31 \
         0e3be8250c46f06dceea3a7fa1348057 e2f6556ad6b1318a024a838f21af1fde \
         048977eb48f59ffd4924ca1c60902e52 f0a089bc76897040e082f93776384864 \
         5e0705",
    );
    assert_eq!(cipher.open(&sealed).unwrap(), text);
}

#[test]
fn values_are_opened_with_their_key_alone() {
    for algorithm in ALL {
        for length in algorithm.key_lengths() {
            let cipher = Cipher::new(algorithm, &vec![7; *length]).unwrap();
            let sealed = || {
                let mut sealed = b"before".to_vec();
                cipher.seal(&"secrets/n/a", VALUE, &mut sealed).unwrap();
                sealed.split_off(6)
            };
            let (once, again) = (sealed(), sealed());
            assert_ne!(once, again, "{algorithm:?}: the same value twice is seen");
            assert_eq!(cipher.open(&"secrets/n/a", &once).unwrap(), VALUE);
            assert!(memmem(&once, b"password").is_none());
            // Noise that begins like an object may come out of one key in 2^16 at most, and none of these.
            for other in 8..=255 {
                let other = Cipher::new(algorithm, &vec![other; *length]).unwrap();
                assert!(other.open(&"secrets/n/a", &once).is_err(), "{algorithm:?}");
            }
            for wrong in [0, 15, 17, 31, 33] {
                assert!(Cipher::new(algorithm, &vec![7; wrong]).is_err(), "{algorithm:?} {wrong}");
            }
        }
    }
}

/// Every shorter text and every changed byte is refused, and none of them is a panic. CBC knows only that
/// what comes out is no object: there a change inside of the value may pass.
#[test]
fn damaged_text_is_not_opened() {
    for algorithm in ALL {
        let cipher = Cipher::new(algorithm, &[9; 32]).unwrap();
        let mut sealed = Vec::new();
        cipher.seal(&"secrets/n/a", VALUE, &mut sealed).unwrap();
        for length in 0..sealed.len() {
            assert!(
                cipher.open(&"secrets/n/a", &sealed[..length]).is_err() || algorithm == Algorithm::AesCbc
            );
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            let opened = cipher.open(&"secrets/n/a", &changed);
            assert!(opened.is_err() || algorithm == Algorithm::AesCbc, "{algorithm:?} at {at}");
        }
    }
}

fn memmem(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
