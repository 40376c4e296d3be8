#!/bin/sh
# What a newcomer sees: the laws side by side on built-in scenes, as tables and as a page in motion.
cd "$(dirname "$0")/.." || exit 1
exec build/tribo demo scenes --out build/demo
