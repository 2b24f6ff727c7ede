"""What tests and users check ops with: samples, finite differences, random graphs."""
