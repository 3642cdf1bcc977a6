"""Family ``fabric`` (equation 7): counts of members by domain, offered loads, granted fractions."""
