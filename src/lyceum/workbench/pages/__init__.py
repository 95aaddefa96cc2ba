"""The pages of the workbench, one file each: a handler parses, calls one public function and
renders."""
