#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| groupdesk_fuzz::intake::run(data));
