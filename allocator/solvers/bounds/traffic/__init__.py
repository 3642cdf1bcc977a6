"""Traffic that no plan can keep within one node or domain, layer by layer of the topology."""
