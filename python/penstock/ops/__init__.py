"""What users call: thin functions over those made from op definitions (`penstock.framework.gen`)."""
