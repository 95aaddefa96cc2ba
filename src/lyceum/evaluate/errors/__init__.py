"""Where errors come from: bias, variance, noise."""
