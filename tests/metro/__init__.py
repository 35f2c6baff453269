"""The rules of the metro station, and what each means in plain Python."""
