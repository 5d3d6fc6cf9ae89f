import { isAbsolute, relative, sep } from 'node:path'

/** Whether `path` is `folder` or below it. Both must be absolute, and real paths if links matter. */
export function liesIn(folder: string, path: string): boolean {
  const inner = relative(folder, path)
  return inner !== '..' && !inner.startsWith(`..${sep}`) && !isAbsolute(inner)
}

/** Drops each path that is inside another of the paths. */
export const outermost = (paths: readonly string[]): string[] =>
  paths.filter((path) => !paths.some((other) => other !== path && liesIn(other, path)))
