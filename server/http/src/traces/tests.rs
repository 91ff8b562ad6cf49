//! Tests of which requests are traced, and of the file that says it.

use std::time::Instant;

use http::{HeaderMap, HeaderValue};
use orch_test_catalog::KUBERNETES;
use orch_trace::context::TraceContext;

use super::{Tracer, delivery::Delivery, file};

fn settings(fields: &str) -> Result<file::Settings, String> {
    let suffix = KUBERNETES.group_suffix;
    let text = format!("apiVersion: apiserver.config.{suffix}/v1beta1\nkind: TracingConfiguration\n{fields}");
    let parsed = file::parse(&text, &KUBERNETES);
    parsed.map_err(|((line, column), problem)| format!("{line}:{column}: {problem}"))
}

fn tracer(fields: &str) -> Tracer {
    let settings = settings(fields).unwrap();
    let sampled_below = ((u128::from(settings.per_million) << 63) / super::MILLION) as u64;
    Tracer { sampled_below, delivery: Delivery::start(settings.collector) }
}

#[tokio::test]
async fn a_share_of_requests_is_traced_and_those_that_are_asked_for() {
    let traced = |tracer: &Tracer, header: Option<&'static str>| {
        let header = header.map(|header| ("traceparent".parse().unwrap(), HeaderValue::from_static(header)));
        let trace = tracer.begin(&header.into_iter().collect::<HeaderMap>(), Instant::now());
        trace.map(|trace| trace.context())
    };
    let (off, half, all) =
        (tracer(""), tracer("samplingRatePerMillion: 500000\n"), tracer("samplingRatePerMillion: 1000000\n"));
    let count = |tracer| (0..1000).filter(|_| traced(tracer, None).is_some()).count();
    assert_eq!((count(&off), count(&all)), (0, 1000));
    assert!((300..700).contains(&count(&half)));
    for tracer in [&off, &half, &all] {
        for (flags, is_sampled) in [("01", true), ("00", false)] {
            let header = format!("00-{:032x}-{:016x}-{flags}", 7, 8).leak();
            let TraceContext { trace, span, is_sampled: delivered } = traced(tracer, Some(header)).unwrap();
            assert_eq!((trace, delivered), (7, is_sampled));
            assert_ne!(span, 8);
        }
    }
    assert_eq!(traced(&off, Some("00-nonsense")), None);
}

#[test]
fn mistakes_of_the_file_have_their_place() {
    for (fields, problem) in [
        ("samplingRatePerMillion: 1000001\n", "3:25: samplingRatePerMillion must be from 0 to 1000000"),
        ("samplingRatePerMillion: -1\n", "3:25: samplingRatePerMillion must be from 0 to 1000000"),
        ("endpoint: localhost\n", "3:11: endpoint: \"localhost\" is not of the form host:port"),
        ("endpoint: grpc://localhost:4317\n", "3:11: endpoint: \"grpc://localhost:4317\" is not of the form"),
        ("endpoint: http://user@localhost\n", "3:11: endpoint: "),
        ("\nsampling: 1\n", "4:1: unknown field"),
    ] {
        let found = settings(fields).err().unwrap();
        assert!(found.starts_with(problem), "{found}");
    }
    let found = file::parse("apiVersion: v1\nkind: TracingConfiguration\n", &KUBERNETES).err().unwrap();
    assert_eq!(found.0, (1, 13), "{found:?}");
    for endpoint in ["", "endpoint: http://[::1]:4318/\n", "endpoint: https://traces.example.com/otlp\n"] {
        assert!(settings(endpoint).is_ok(), "{endpoint}");
    }
}
