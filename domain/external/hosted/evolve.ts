import { ImpossibleEvent } from '../../stream/impossible.ts'
import type { ExternalEvent } from '../events.ts'
import type { ExternalState } from '../state.ts'
import type { hostedBodies } from './events.ts'
import type { Hosted } from './state.ts'

type HostedEvent = Extract<ExternalEvent, { type: keyof typeof hostedBodies }>

/** The hosted part of the state after an event. Throws ImpossibleEvent if the event cannot follow. */
export function evolveHosted({ hosted, driver }: ExternalState, event: HostedEvent): Hosted {
  if (hosted === undefined) throw new ImpossibleEvent(event, 'no program hosts the run')
  const { asked, open, transcripts } = hosted
  switch (event.type) {
    case 'model_requested': {
      const { call } = event.body
      if (call !== asked) throw new ImpossibleEvent(event, `model call ${asked} comes next, not ${call}`)
      return { ...hosted, asked: asked + 1, open: [...open, { call, epoch: driver?.epoch ?? 0 }] }
    }
    case 'model_outcome': {
      const { call } = event.body
      if (!open.some((one) => one.call === call)) throw new ImpossibleEvent(event, `model call ${call} is not open`)
      return { ...hosted, open: open.filter((one) => one.call !== call) }
    }
    case 'transcript_mirrored':
      return { ...hosted, transcripts: { ...transcripts, [event.body.subpath ?? '']: event.at } }
    case 'transcript_deleted': {
      const { subpath } = event.body
      const left = Object.entries(transcripts).filter(([name]) => subpath !== undefined && name !== subpath)
      return { ...hosted, transcripts: Object.fromEntries(left) }
    }
    case 'mirror_gap':
      return hosted
  }
}
