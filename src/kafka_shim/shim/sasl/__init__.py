"""How clients prove who they are; one mechanism a file."""
