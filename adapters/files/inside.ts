import { isAbsolute, relative, sep } from 'node:path'

/** Whether `path` is `folder` or lies in it. Both are absolute, and real where links matter. */
export function liesIn(folder: string, path: string): boolean {
  const inner = relative(folder, path)
  return inner !== '..' && !inner.startsWith(`..${sep}`) && !isAbsolute(inner)
}
