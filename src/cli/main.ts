#!/usr/bin/env node
// The windrow command.
export {};
