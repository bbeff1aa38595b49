/** Of files that `cat` joined, each with an index at its end, a reader finds that of the last. */
export function joinedFiles(): Error {
  return new Error('it is several files in one, and the index is that of the last: give each as an input of its own');
}
