"""The jobs, one file each: functions from DataFrames to a DataFrame."""
