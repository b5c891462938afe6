"""Readers and writers of messages, compiled from their definitions when they are first used."""
