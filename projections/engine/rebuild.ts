import type { Cursor } from '../../domain/log/cursor.ts'
import { ERASED_FACT } from '../../domain/log/erased.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { otherLog, ProjectionError } from './errors.ts'
import { Projector, type ProjectorOptions } from './projector/projector.ts'
import type { Home, TableDifference } from './store/home.ts'
import type { Store } from './store/store.ts'

export interface Made {
  readonly name: string
  readonly store: Store
  readonly projector: Projector
}

export interface RebuildOptions {
  /** Switch even if the tables differ, for example after a change of the row rules. */
  readonly accept?: boolean
  /** Replace the live tables even if they belong to another log. They are not compared. */
  readonly takeOver?: boolean
}

interface Rebuilt extends Made {
  /** Null: there were no tables to compare with. */
  readonly differences: readonly TableDifference[] | null
  /** The number of events that the tables were made from. */
  readonly events: number
}

/**
 * Makes new tables from the log alone and compares them with the live ones at the live position. Readers and the live
 * projector continue in the meantime. The caller then switches to the new tables or drops them. `begun` gets the new
 * projector; its status is the progress of the rebuild.
 */
export async function rebuildBeside(
  home: Home,
  options: Omit<ProjectorOptions, 'store'>,
  live: string | null,
  begun: (projector: Projector) => void = () => {},
): Promise<Rebuilt> {
  const { name, store } = await home.fresh()
  const projector = new Projector({ ...options, store })
  begun(projector)
  try {
    const differences = live === null ? null : await compared(home, options.log, live, name, projector)
    const { events } = await projector.catchUp()
    return { name, store, projector, differences, events }
  } catch (error) {
    await discard(home, { name, store })
    throw error
  }
}

/**
 * Compares with the live tables, and with the new live ones after another process has switched. If a body was erased
 * while the new tables were made, the live tables still show it at that position, so the comparison is repeated at a
 * later one.
 */
async function compared(
  home: Home,
  log: EventLog,
  live: string,
  name: string,
  projector: Projector,
): Promise<TableDifference[] | null> {
  for (let [asked, before] = [live, -1]; ; ) {
    const at: Cursor[] = []
    const differences = await home.compare(asked, name, (to) => {
      at.push(to)
      return projector.catchUp(to)
    })
    if (differences === null) {
      const now = await home.live()
      if (now === null || now === asked) return null
      asked = now
      continue
    }
    const last = at.at(-1)
    if (differences.length === 0 || last === undefined || last.position <= before) return differences
    if (!(await erasesAfter(log, last))) return differences
    before = last.position
  }
}

/** Whether bodies were erased after a place in the log; false when the log does not contain the place. */
async function erasesAfter(log: EventLog, cursor: Cursor): Promise<boolean> {
  try {
    for await (const page of log.readAll(cursor, { bodies: false }))
      if (page.some(({ header }) => header.type === ERASED_FACT)) return true
    return false
  } catch (error) {
    if (error instanceof LogError && error.code === 'CURSOR_MISMATCH') return false
    throw error
  }
}

/** Closes and drops tables that did not become live. Never drops live tables. */
export async function discard(home: Home, { name, store }: Pick<Made, 'name' | 'store'>): Promise<void> {
  await store.close()
  // The caller reports the first error; tables that cannot be dropped now are dropped after the next switch.
  await home.drop(name).catch(() => undefined)
}

/** Rejects with `LOG_OTHER` when protected tables belong to another log. False: the log of the tables is unknown. */
export async function mustBeOf(home: Home, log: EventLog): Promise<boolean> {
  const of = await home.logId()
  if (of !== null && of !== log.logId) throw otherLog(of, log.logId)
  return of !== null
}

/**
 * Calls {@link rebuildBeside}, and drops the new tables if they differ, unless `accept`. `made`: null after a drop;
 * otherwise the caller switches to it and closes it. Rejects with `LOG_OTHER`, unless `takeOver`.
 */
export async function rebuildEqual(
  home: Home,
  options: Omit<ProjectorOptions, 'store'>,
  { accept = false, takeOver = false }: RebuildOptions = {},
  begun?: (projector: Projector) => void,
): Promise<Pick<Rebuilt, 'differences' | 'events'> & { readonly made: Made | null }> {
  const live = await home.live()
  if (!takeOver) await mustBeOf(home, options.log)
  const { differences, events, ...made } = await rebuildBeside(home, options, takeOver ? null : live, begun)
  if (accept || (differences ?? []).length === 0) return { made, differences, events }
  await discard(home, made)
  return { made: null, differences, events }
}

/**
 * Makes rebuilt tables live if they show at least as much as earlier answers; otherwise discards them. Rejects with
 * `LOG_OTHER` when the live tables belong to another log, unless `takeOver`.
 */
export async function switchTo(home: Home, made: Made, takeOver = false): Promise<void> {
  try {
    await pointedTo(home, made, takeOver)
  } catch (error) {
    await discard(home, made)
    throw error
  }
}

async function pointedTo(home: Home, { name, projector }: Made, takeOver: boolean): Promise<void> {
  let before = -1
  for (;;) {
    const { cursor, events } = await projector.catchUp()
    if (await home.pointTo(name, projector.status().progress, takeOver)) return
    if (events === before) {
      throw new ProjectionError(
        'LOG_MISMATCH',
        `the live tables show more than the log holds up to ${cursor?.position ?? 'its beginning'} ` +
          '(a restored backup); open the projections again, which rebuilds them',
      )
    }
    before = events
  }
}
