"""The private floor: what families share. Users find what they need of it in the public rooms."""
