"""What all experiments share: running trials, storing their results and writing reports."""
