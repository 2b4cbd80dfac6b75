"""What is done for a delivery: GitHub, the store, the reviews and the commands brought together."""
