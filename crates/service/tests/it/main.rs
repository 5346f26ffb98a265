//! The service, in process and over sockets.
