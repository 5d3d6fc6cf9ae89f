import { ProjectionError } from './errors.ts'
import { Projector, type ProjectorOptions } from './projector/projector.ts'
import type { Difference, Home } from './store/home.ts'
import type { Store } from './store/store.ts'

/** Tables that a projector writes. */
export interface Made {
  readonly name: string
  readonly store: Store
  readonly projector: Projector
}

export interface Rebuilt extends Made {
  /** Null: there was nothing to compare with. */
  readonly differences: readonly Difference[] | null
  /** How many events they were made of. */
  readonly events: number
}

/**
 * Makes the tables a second time, from the log alone, beside the live ones, and compares the two at the position where the
 * live ones stood. Readers and the live projector go on meanwhile. The caller switches or drops.
 */
export async function rebuildBeside(
  home: Home,
  options: Omit<ProjectorOptions, 'store'>,
  live: string | null,
): Promise<Rebuilt> {
  const { name, store } = await home.fresh()
  const projector = new Projector({ ...options, store })
  try {
    const differences = live === null ? null : await home.compare(live, name, (to) => projector.catchUp(to))
    const { events } = await projector.catchUp()
    return { name, store, projector, differences, events }
  } catch (error) {
    await store.close()
    await home.drop(name)
    throw error
  }
}

/**
 * {@link rebuildBeside}, and drops what is not equal unless `accept` says that a difference is wanted. `made` null: it was
 * dropped; else the caller switches, and closes it.
 */
export async function rebuildEqual(
  home: Home,
  options: Omit<ProjectorOptions, 'store'>,
  accept: boolean,
): Promise<Pick<Rebuilt, 'differences' | 'events'> & { readonly made: Made | null }> {
  const { differences, events, ...made } = await rebuildBeside(home, options, await home.live())
  if (accept || (differences ?? []).length === 0) return { made, differences, events }
  await made.store.close()
  await home.drop(made.name)
  return { made: null, differences, events }
}

/** Makes rebuilt tables the live ones, when they show no less than answers have shown already. */
export async function switchTo(home: Home, { name, projector }: Made): Promise<void> {
  let before = -1
  for (;;) {
    const { cursor, events } = await projector.catchUp()
    if (await home.pointTo(name, projector.status().progress)) return
    if (events === before) {
      throw new ProjectionError(
        'LOG_MISMATCH',
        `the live tables show more than the log holds up to ${cursor?.position ?? 'its beginning'} ` +
          '(a restored backup); open the projections again, which makes them anew',
      )
    }
    before = events
  }
}
