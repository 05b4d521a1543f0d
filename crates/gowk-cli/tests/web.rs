//! `gowk web`, from the outside: it says where it is, answers there, and ends when it is told to.
#![cfg(feature = "web")]

mod common;

use common::Folder;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

/// A server, ended with the test.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gowk"))
            .arg("web")
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Self { child, address }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn the_page_is_served_with_the_filters_of_the_folder() {
    let folder = Folder::new();
    folder.file("keys.txt", "a\nb\n");
    folder.stdout("build keys.txt -o keys.gowk");
    let running = Running::start(&["--port", "0", folder.path("").to_str().unwrap()]);
    assert!(running.get("/").contains("<title>gowk</title>"));
    assert!(running.get("/api/folder").contains("keys.gowk"));
    // The plan of the page is the plan of the command line.
    let told: serde_json::Value =
        serde_json::from_str(running.get("/api/plan?items=50000&fpp=0.02").split("\r\n\r\n").nth(1).unwrap())
            .unwrap();
    let printed: serde_json::Value =
        serde_json::from_str(&folder.stdout("plan --items 50000 --fpp 0.02 --json")).unwrap();
    for (told, printed) in
        told["choices"].as_array().unwrap().iter().zip(printed["choices"].as_array().unwrap())
    {
        for field in ["family", "bytes", "lines"] {
            assert_eq!(told[field], printed[field]);
        }
    }
    assert_eq!(told["reason"], printed["reason"]);
    assert_eq!(told["choices"][0]["command"], printed["command"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_well_and_its_temporary_folder_goes() {
    let temp = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gowk"))
        .args(["web", "--port", "0"])
        .env("TMPDIR", temp.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(temp.names().len(), 1);
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert!(child.wait().unwrap().success());
    assert!(temp.names().is_empty());
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = Folder::new();
    let running = Running::start(&["--port", "0"]);
    let port = running.address.rsplit(':').next().unwrap();
    folder.error(&format!("web --port {port}"), "is taken");
    folder.error("web no-such-folder", "is not a folder");
    folder.error("web --port 70000", "70000");
    folder.gowk("web --redis env").env_remove("GOWK_REDIS_URL").assert().code(2);
    for url in ["redis://:s3cret@127.0.0.1:1", "http://u:s3cret@h"] {
        let output = folder.gowk(&format!("web --redis {url}")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
        assert!(said.starts_with("gowk: ") && !said.contains("s3cret"), "{said}");
    }
}
