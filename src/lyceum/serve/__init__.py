"""A server for models: `lyceum serve model.lyceum` answers, explains and watches."""
