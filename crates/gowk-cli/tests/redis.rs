//! `gowk redis`, against a server of its own.

mod common;

use common::{Folder, lines};
use gowk_testkit::Server;

/// A folder, a server, and how the program is told of it.
struct Place {
    folder: Folder,
    server: Server,
}

impl Place {
    fn new() -> Self {
        Self { folder: Folder::new(), server: Server::plain(&["--save", ""]) }
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.server.port)
    }

    fn run(&self, args: &str) -> (Option<i32>, String, String) {
        let output =
            self.folder.gowk(&format!("redis {args}")).env("GOWK_REDIS_URL", self.url()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    fn ok(&self, args: &str) -> String {
        let (code, stdout, stderr) = self.run(args);
        assert_eq!(code, Some(0), "{args}: {stderr}");
        stdout
    }

    fn error(&self, args: &str, text: &str) {
        let (code, stdout, stderr) = self.run(args);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{args}: {stderr}");
        assert!(stderr.contains(text), "{args}: {stderr}");
    }
}

#[test]
fn a_filter_lives_from_create_to_drop() {
    let place = Place::new();
    place.folder.file("keys.txt", lines(0..10_000));
    place.folder.file("asked.txt", "key 1\nkey 9999\nnobody\n");
    place.ok("create seen --items 20K --fpp 1e-6");
    place.ok("create seen --items 20K --fpp 1e-6");
    place.error("create seen --items 30K", "another number of items: 20000, not 30000");
    let (_, _, said) = place.run("add seen keys.txt");
    assert_eq!(said, "gowk: 10,000 of 10,000 keys were new in seen\n");
    assert_eq!(place.ok("query seen asked.txt"), "key 1\nkey 9999\n");
    assert_eq!(place.ok("query -v seen asked.txt"), "nobody\n");
    assert_eq!(place.ok("query -c seen keys.txt"), "10000\n");
    place.folder.file("log.txt", "x,key 1\nx,nobody\nx\n");
    assert_eq!(place.ok("query seen log.txt -f 2 -d ,"), "x,key 1\n");
    let info: serde_json::Value = serde_json::from_str(&place.ok("info seen --json --exact")).unwrap();
    assert_eq!(info["items"], 20_000);
    assert!((info["estimated_items"].as_f64().unwrap() - 10_000.0).abs() < 100.0, "{info}");
    assert!(place.ok("info seen").contains("holds about"));

    assert_eq!(place.ok("list"), "bloom          seen\n");
    assert_eq!(place.ok("list --json"), "{\"name\":\"seen\",\"kind\":\"bloom\"}\n");

    // To a file and back, which the rest of the program understands.
    place.ok("export seen -o seen.gowk");
    assert_eq!(place.folder.stdout("query -c seen.gowk keys.txt"), "10000\n");
    place.error("export seen -o seen.gowk", "--force replaces it");
    place.ok("import copy seen.gowk");
    assert_eq!(place.ok("query -c copy keys.txt"), "10000\n");

    // Filled anew.
    place.folder.file("half.txt", lines(5_000..10_000));
    place.ok("rebuild seen half.txt --items 40K");
    assert_eq!(place.ok("query -c seen keys.txt"), "5000\n");
    let (code, _, said) = place.run("rebuild seen --abort");
    assert_eq!((code, said.as_str()), (Some(1), "gowk: nobody was rebuilding it\n"));
    place.ok("expire seen 1h");
    assert!(place.ok("info seen").contains("expires in"));
    place.ok("expire seen never");
    place.ok("clear seen");
    assert_eq!(place.run("query -q seen keys.txt").0, Some(1));
    place.ok("drop seen");
    place.ok("drop copy");
    place.error("query seen asked.txt", "there is no filter \"seen\"");
    assert_eq!(place.run("list"), (Some(1), String::new(), String::new()));
}

#[test]
fn keys_are_counted_and_removed() {
    let place = Place::new();
    place.folder.file("keys.txt", lines(0..1_000));
    place.ok("create carts --items 2K --fpp 1e-4 --counting --seed 7");
    place.ok("add carts keys.txt");
    place.ok("add carts keys.txt");
    place.ok("remove carts keys.txt");
    assert_eq!(place.ok("query -c carts keys.txt"), "1000\n");
    place.ok("remove carts keys.txt");
    assert_eq!(place.run("remove carts keys.txt").0, Some(1), "nothing is there any more");
    place.ok("create seen --items 2K");
    place.error("remove seen keys.txt", "from which nothing can be removed");
    place.ok("export carts -o carts.gowk");
    place.error("import carts carts.gowk", "there is a filter \"carts\" already");
}

#[test]
fn what_goes_wrong_is_named_and_passwords_are_not() {
    let place = Place::new();
    let folder = &place.folder;
    folder.gowk("redis info seen").env_remove("GOWK_REDIS_URL").assert().code(2);
    for url in ["redis://:s3cret@127.0.0.1:1", "http://u:s3cret@h", "redis://u:s3cret@127.0.0.1:1/x"] {
        let output = folder.gowk(&format!("redis info seen --url {url} --patience 100ms")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said.starts_with("gowk: ") && !said.contains("s3cret"), "{said}");
    }
    place.error("create a{b --items 10", "braces");
    place.error("create seen --items 10 --shard-size 2M", "the size of a shard");
    place.error("info seen", "there is no filter");
    folder.file("not.gowk", "hello");
    place.error("import seen not.gowk", "cannot open not.gowk");
    folder.file("keys.txt", lines(0..100));
    folder.stdout("build keys.txt --family fuse -o fuse.gowk");
    place.error("import seen fuse.gowk", "cannot be kept on plain servers");
    place.ok("create seen --items 10");
    place.error("add seen missing.txt", "missing.txt");
    let (code, _, said) = place.run("add seen keys.txt");
    assert!(code == Some(0) && said.contains("was made for 10 keys"), "{said}");
    // A rebuild that fails leaves the old one.
    place.error("rebuild seen keys.txt missing.txt", "missing.txt");
    assert_eq!(place.ok("query -c seen keys.txt"), "100\n");
    assert!(!place.ok("info seen").contains("being built"));
}

#[test]
fn a_filter_is_reached_through_tls() {
    let place = Place::new();
    let certificate = "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem -out cert.pem -subj /CN=localhost \
                       -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE";
    let made = std::process::Command::new("openssl")
        .args(certificate.split_whitespace())
        .current_dir(place.folder.path("."))
        .output()
        .expect("openssl is installed");
    assert!(made.status.success(), "{made:?}");
    let path = |name| place.folder.path(name).display().to_string();
    let (cert, key, port) = (path("cert.pem"), path("key.pem"), gowk_testkit::free_port().to_string());
    let options = ["--save", "", "--tls-auth-clients", "no", "--tls-port", &port];
    let files = ["--tls-cert-file", &cert, "--tls-key-file", &key, "--tls-ca-cert-file", &cert];
    let _server = Server::plain(&[&options[..], &files[..]].concat());
    let url = format!("rediss://localhost:{port}");
    let create = |trusted: &str| {
        let mut command = place.folder.gowk(&format!("redis create seen --items 10 --url {url}"));
        command.env("SSL_CERT_FILE", trusted).output().unwrap()
    };
    let created = create(&cert);
    assert!(created.status.success(), "{created:?}");
    // A certificate that nobody has signed is not trusted.
    let other = place.folder.file("none.pem", "");
    let refused = create(&other.display().to_string());
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.starts_with("gowk: ") && !said.contains("panicked"), "{said}");
}
