"""Mutation testing of permissions: find the tests that notice a wrong ACL."""
