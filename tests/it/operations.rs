//! What an operator can do, against the real service, a meddling proxy and a service that misbehaves.
