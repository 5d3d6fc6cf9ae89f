import type { ContainerID, JsonChange, LoroDoc } from 'loro-crdt'

/** The deepest nesting of containers. The text of a table cell has six containers around it. */
export const MAX_CONTAINER_DEPTH = 64

/**
 * Whether a change nests containers deeper than {@link MAX_CONTAINER_DEPTH}. Loro needs quadratic time of the depth to
 * describe such a change.
 */
export function isTooDeep(doc: LoroDoc, changes: readonly JsonChange[]): boolean {
  const parents = new Map<string, string>()
  for (const { ops } of changes)
    for (const { container, content } of ops)
      if ('value' in content) for (const made of containersIn(content.value)) parents.set(made, container)
  return [...parents.keys()].some((made) => depthOf(doc, parents, made) > MAX_CONTAINER_DEPTH)
}

function depthOf(doc: LoroDoc, parents: ReadonlyMap<string, string>, container: string): number {
  let depth = 0
  let at = container
  for (let parent = parents.get(at); parent !== undefined && depth <= MAX_CONTAINER_DEPTH; parent = parents.get(at)) {
    at = parent
    depth += 1
  }
  return depth + (doc.getPathToContainer(at as ContainerID)?.length ?? 1)
}

/** Loro's JSON names a new container by a text with this prefix, in a list or as a map's value. */
export const containersIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) =>
    typeof one === 'string' && one.startsWith(NEW) ? [one.slice(NEW.length)] : [],
  )
const NEW = '🦜:'
