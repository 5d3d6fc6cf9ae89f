import type { RunDetail as Detail } from '../../operations/runs/schemas.ts'

/** Why a run makes no progress or is incomplete on the page, with a remedy. `to`: a link with details. */
export interface Reason {
  readonly text: string
  readonly bad: boolean
  readonly to?: readonly [href: string, title: string]
  /** What happened, in a few words. */
  readonly title?: string
}

/** Plain words for the codes with which runs end most often. */
const ENDED: Readonly<Record<string, string>> = {
  MODEL_FAILED: 'The model gave no answer',
  MODEL_REFUSED: 'The model refused',
  NO_COMPLETION: 'The agent stopped without a result',
  RECOVERY_FAILED: 'The agent did not finish after its final warning',
  TOO_MANY_VIOLATIONS: 'The agent broke its rules too often',
  BUDGET_EXCEEDED: 'The budget was spent',
  CONTEXT_OVERFLOW: 'The conversation became too long for the model',
  CANCELLED: 'Cancelled',
}

/** Everything that a person must know about a run besides its events. Its questions to people are shown elsewhere. */
export function reasonsOf({ run, parked, restoring, ...going }: Detail): readonly Reason[] {
  const { runId, status, error, partialOutput, unmetGates } = run
  const over = status === 'completed' || status === 'failed'
  const waits = new Set(run.waiting.map((one) => one.for))
  const found: (Reason | false)[] = [
    error !== null && {
      bad: error.code !== 'CANCELLED',
      title: `${ENDED[error.code] ?? 'Failed'} (${error.code})`,
      text: error.message,
      ...(error.message.startsWith('AUTHENTICATION') && { to: ['/health', 'Check the keys of the models'] }),
    },
    error !== null && partialOutput !== null && { bad: false, text: `The last answer: ${partialOutput}` },
    unmetGates.length > 0 && { bad: true, text: `It ended with gates that do not hold: ${unmetGates.join(', ')}` },
    restoring !== null && { bad: true, text: restoreOf(restoring) },
    ...parked.map(
      ({ stream, revision, code, error: why }): Reason => ({
        bad: true,
        text: `What is shown is older than the run: ${stream} is read up to event ${revision}, no further (${code}: ${why}).`,
        to: ['/audit?tab=tables', 'Once that is mended: read it again'],
      }),
    ),
    run.incomplete &&
      parked.length === 0 && { bad: true, text: 'Something could not be read; the figures may be too low.' },
    run.shortened && {
      bad: true,
      text: 'The log holds less of it than was seen. It goes on once a person has accepted the loss: keepup repair',
    },
  ]
  if (!over) found.push(...stands(run, waits, { runId, ...going }))
  return found.filter((one) => one !== false)
}

type Waits = ReadonlySet<Detail['run']['waiting'][number]['for']>
type Going = Pick<Detail, 'missingTools' | 'missingProviders' | 'workersDrive'> & { readonly runId: string }

/** Why a run that has not ended makes no progress. */
function stands(run: Detail['run'], waits: Waits, going: Going): (Reason | false)[] {
  const { runId, missingTools, missingProviders, workersDrive } = going
  const asks = waits.has('approval') || waits.has('doubt') || waits.has('input')
  if (waits.has('model'))
    return [
      {
        bad: true,
        text: 'No model that it may use serves at present; it tries again by itself, and gives up in the end.',
        to: [`/numbers?tab=routing&run=${encodeURIComponent(runId)}`, 'How the models do'],
      },
    ]
  if (run.paused) return [{ bad: false, text: 'It is paused: Resume lets it go on, Step to the end of one turn.' }]
  if (run.ungoverned && run.interrupted === true)
    return [{ bad: true, text: 'The process that ran this agent is gone: Cancel ends what it has left behind.' }]
  if (asks || run.driving) return []
  if (run.ungoverned) return [{ bad: false, text: 'Another process runs this agent; here it is only recorded.' }]
  if (missingTools.length > 0)
    return [
      {
        bad: true,
        text: `It goes on in the program that has its tools; this server does not have ${missingTools.join(', ')}.`,
      },
    ]
  if (missingProviders.length > 0)
    return [
      {
        bad: true,
        text: `It goes on in the program that has the providers of its models; this server does not have ${missingProviders.join(', ')}.`,
      },
    ]
  if (workersDrive) return [{ bad: false, text: 'No worker drives it just now; the next one that is free takes it.' }]
  return [{ bad: run.interrupted === true, text: 'No process drives it: Resume lets it go on here.' }]
}

function restoreOf({ step, tree, replaces }: NonNullable<Detail['restoring']>): string {
  const again = step === null ? `version ${tree}` : `those of step ${step}`
  return (
    `A restore of its files has not ended. If its process is gone, files may be half put back: restore ${again} once ` +
    `more, or version ${replaces}, which holds them as they were before (keepup restore RUN --tree).`
  )
}
