"""Training of the source finder: page scorer, supervised training, pre-training, fine-tuning."""
