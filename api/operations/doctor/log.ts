import { lossText } from '../losses/loss.ts'
import type { Services } from '../services.ts'
import { bad, type Finding, message, ok } from './finding.ts'

const RESTORE = 'restore a backup of the log, or look at what is missing with "repair"'

/** The log, and whether it still contains its last known event. */
export async function checkLog({ log, losses }: Services): Promise<Finding[]> {
  return [ok('log', log.logId), await checkEnd(losses)]
}

async function checkEnd(losses: Services['losses']): Promise<Finding> {
  try {
    const loss = await losses.look()
    return loss === null
      ? ok('log end', 'the log holds all that was seen of it')
      : bad('broken', 'log end', lossText(loss), RESTORE)
  } catch (error) {
    return bad('broken', 'log end', message(error), RESTORE)
  }
}
