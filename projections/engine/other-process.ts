import type { RebuildReport } from '../projections.ts'
import { ProjectionError } from './errors.ts'
import { Projector, type ProjectorOptions } from './projector/projector.ts'
import { type RebuildOptions, rebuildEqual, switchTo } from './rebuild.ts'
import type { Home } from './store/home.ts'
import type { Store } from './store/store.ts'

// Operations on tables that another process writes.

/**
 * Like {@link Projections.rebuild}. The process that writes the live tables loses its position, and continues after it
 * has opened the new tables.
 */
export async function rebuildElsewhere(
  home: Home,
  options: Omit<ProjectorOptions, 'store'>,
  wishes: RebuildOptions = {},
): Promise<RebuildReport> {
  const { made, ...report } = await rebuildEqual(home, options, wishes)
  if (made === null) return { switched: false, ...report }
  await switchTo(home, made, wishes.takeOver)
  await made.store.close()
  return { switched: true, ...report }
}

/** Like {@link Projections.release}. Retries up to {@link MAX_TRIES} times after `POSITION_TAKEN`. */
export async function releaseElsewhere(
  home: Home,
  options: Omit<ProjectorOptions, 'store'>,
  stream: string,
): Promise<boolean> {
  let done = false
  for (let tries = 1; ; tries++) {
    const live = await home.live()
    if (live === null) throw new ProjectionError('NOT_FOUND', 'there are no tables yet; start a run first')
    try {
      done = (await releaseIn(await home.open(live), options, stream)) || done
      // The release is lost if the tables were switched in the meantime, so it is repeated on the new ones.
      if ((await home.live()) === live || tries === MAX_TRIES) return done
    } catch (error) {
      if (!(error instanceof ProjectionError && error.code === 'POSITION_TAKEN') || tries === MAX_TRIES) throw error
    }
  }
}

async function releaseIn(store: Store, options: Omit<ProjectorOptions, 'store'>, stream: string): Promise<boolean> {
  try {
    return await new Projector({ ...options, store }).release(stream)
  } finally {
    await store.close()
  }
}

const MAX_TRIES = 20
