/** A part of a path as text; one that is no well-formed part as it stands. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
