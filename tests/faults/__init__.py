"""What happens around a program goes wrong: its files are damaged, lost or not its own."""
