"""What every gRPC server of the service has in common: typed errors, health, reflection, stopping."""
