//! The listening end: a socket on the loopback, and what answers there.

use crate::{assets, guard, inspect, lab, plan};
use axum::{Router, extract::DefaultBodyLimit, middleware, routing::get};
use std::{
    future::Future,
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::net::TcpListener;

/// The most bytes of a question, uploads apart.
const MOST_QUESTION: usize = 1 << 20;

/// How long answers on their way may take when the server is to end.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the page may see, and where it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The folder whose filters can be opened, and nothing above it; none if there is nothing to open.
    pub folder: Option<PathBuf>,
    /// The servers whose filters can be looked at, and nothing else of them; none if there are none.
    pub servers: Option<gowk_redis::Servers>,
    /// The port on 127.0.0.1; 0 for one that is free.
    pub port: u16,
    /// The most bytes of a file that is dropped on the page.
    pub most_upload: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { folder: None, servers: None, port: 0, most_upload: 256_000_000 }
    }
}

/// A page that is ready to be served.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
}

impl Server {
    /// Takes the port. Fails if it is taken, or if the folder is none.
    pub async fn bind(options: Options) -> io::Result<Self> {
        let shelf = inspect::Shelf::new(options.folder.as_deref(), options.servers, options.most_upload)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, router: router(address.port(), Arc::new(shelf)) })
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until `end` is over; what is being answered then is answered, if it does not take long.
    pub async fn run(self, end: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let (tell, told) = tokio::sync::oneshot::channel::<()>();
        let end = async move {
            end.await;
            drop(tell);
        };
        let serve = axum::serve(self.listener, self.router).with_graceful_shutdown(end);
        // A browser that holds a connection open, or an upload that never ends, must not keep the program from ending.
        let patience = async {
            told.await.ok();
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            served = serve => served,
            () = patience => Ok(()),
        }
    }
}

fn router(port: u16, shelf: Arc<inspect::Shelf>) -> Router {
    let api = Router::new()
        .route("/plan", get(plan::plan))
        .route("/plan/curves", get(plan::curves))
        .merge(lab::routes())
        .merge(inspect::routes(shelf))
        .layer(DefaultBodyLimit::max(MOST_QUESTION))
        .layer(middleware::from_fn(guard::same_origin));
    Router::new()
        .nest("/api", api)
        .fallback(assets::serve)
        .layer(middleware::from_fn_with_state(guard::Names::new(port), guard::only_here))
}

#[cfg(test)]
mod tests;
