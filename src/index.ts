// The library's door.
export {};
