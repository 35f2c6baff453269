"""Steps inside this process, without a JVM: for tests and small jobs."""
