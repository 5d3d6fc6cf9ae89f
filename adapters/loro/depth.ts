import type { ContainerID, JsonChange, LoroDoc } from 'loro-crdt'

/** Containers within one another; the text of a table cell has six around it. */
export const MAX_DEPTH = 64

/** Does a change put containers deeper than {@link MAX_DEPTH}? Loro takes the square of the depth to describe a change there. */
export function isTooDeep(doc: LoroDoc, changes: readonly JsonChange[]): boolean {
  const parents = new Map<string, string>()
  for (const { ops } of changes)
    for (const { container, content } of ops)
      if ('value' in content) for (const made of containersIn(content.value)) parents.set(made, container)
  return [...parents.keys()].some((made) => depthOf(doc, parents, made) > MAX_DEPTH)
}

function depthOf(doc: LoroDoc, parents: ReadonlyMap<string, string>, container: string): number {
  let depth = 0
  let at = container
  for (let parent = parents.get(at); parent !== undefined && depth <= MAX_DEPTH; parent = parents.get(at)) {
    at = parent
    depth += 1
  }
  return depth + (doc.getPathToContainer(at as ContainerID)?.length ?? 1)
}

/** New containers stand as such texts in a list or as the value of a map. */
export const containersIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) =>
    typeof one === 'string' && one.startsWith(NEW) ? [one.slice(NEW.length)] : [],
  )
const NEW = '🦜:'
