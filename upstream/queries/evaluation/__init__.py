"""How standing queries are evaluated: from the basket of a stream to the table of a result."""
