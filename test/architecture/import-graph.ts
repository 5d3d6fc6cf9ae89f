import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** The TypeScript files of a room, as paths from the root. */
export const sources = (room: string): string[] =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|tsx)$/.test(path))
    .map((path) => join(room, path))

export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The imports of a file, of types too, as paths from the root or package names. */
export function imports(path: string): string[] {
  const found = read(path).matchAll(/\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm)
  return [...found]
    .map((match) => match[1] ?? match[2] ?? match[3]!)
    .map((name) => (name.startsWith('.') ? relative(root, resolve(root, dirname(path), name)) : name))
}

/** The files of the house that a file loads when it starts, without types and dynamic imports, and itself. */
export function loadedBy(path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found
  found.add(path)
  for (const [, name] of read(path).matchAll(/^(?:import|export) (?!type\b)[^'";]*from '(\.[^']+)'/gm))
    loadedBy(relative(root, resolve(root, dirname(path), name!)), found)
  return found
}

/**
 * The circles of a graph: sets of nodes, each of which leads to all the others (Tarjan's strongly connected components of
 * more than one node), and single nodes that lead to themselves. Edges to nodes outside the graph are left out.
 */
export function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const found: string[][] = []
  const visit = (node: string): void => {
    const own = order.size
    order.set(node, own)
    lowest.set(node, own)
    open.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue
      if (!order.has(next)) visit(next)
      if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!))
    }
    if (lowest.get(node) !== own) return
    const circle = open.splice(open.indexOf(node))
    if (circle.length > 1 || graph.get(node)?.includes(node)) found.push(circle)
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return found
}
