"""GmCopy: reads global memory and does nothing with it."""
