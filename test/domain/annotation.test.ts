import { describe, expect, it } from 'vitest'
import { type AnnotationCommand, annotation } from '../../domain/annotation/aggregate.ts'
import type { AnnotationEvent } from '../../domain/annotation/events.ts'
import { MOST_NOTES, MOST_TAGS } from '../../domain/annotation/limits.ts'
import { type AnnotationState, annotationDigest, evolveAnnotation } from '../../domain/annotation/state.ts'

const PLACE = { stream: 'annotation-r', revision: -1 }
const CONTEXT = {
  now: 0,
  salt: () => new Uint8Array(16),
  jitter: () => 0,
  by: { kind: 'user', id: 'ann' },
  commandId: 'c',
} as const

/** The events of commands, one after the other, and the state after them. */
function told(commands: readonly AnnotationCommand[]) {
  const events: AnnotationEvent[] = []
  let state: AnnotationState | null = null
  for (const command of commands) {
    const decision = annotation.decide(state, { ...PLACE, revision: events.length - 1 }, command, CONTEXT)
    for (const { event } of decision.drafts) events.push(event as AnnotationEvent)
    state = decision.state
  }
  return { state, events: events.map(({ type, body }) => [type, body]), whole: events }
}

const tag = (tag: string): AnnotationCommand => ({ kind: 'add_tag', tag })
const untag = (tag: string): AnnotationCommand => ({ kind: 'remove_tag', tag })
const note = (text: string): AnnotationCommand => ({ kind: 'add_note', text })

describe('tags and notes', () => {
  it('record a tag once, also when it is asked for twice, and again after its removal', () => {
    expect(told([tag('a'), tag('a'), untag('b'), untag('a'), untag('a'), tag('a')]).events).toEqual([
      ['tag_added', { tag: 'a' }],
      ['tag_removed', { added: 0 }],
      ['tag_added', { tag: 'a' }],
    ])
  })

  it('refuse the removal of a note that the run does not have', () => {
    expect(() => told([note('x'), { kind: 'remove_note', note: 1 }])).toThrow(
      expect.objectContaining({ code: 'NOTE_UNKNOWN', why: 'absent' }),
    )
    const twice: AnnotationCommand[] = [note('x'), { kind: 'remove_note', note: 0 }, { kind: 'remove_note', note: 0 }]
    expect(() => told(twice)).toThrow(expect.objectContaining({ code: 'NOTE_UNKNOWN' }))
  })

  it('refuse more tags and notes than a run may have, until one is removed', () => {
    const tags = Array.from({ length: MOST_TAGS }, (_, n) => tag(`t${n}`))
    expect(() => told([...tags, tag('one more')])).toThrow(expect.objectContaining({ code: 'TOO_MANY_TAGS' }))
    expect(told([...tags, untag('t0'), tag('one more'), tag('t1')]).state?.tags.size).toBe(MOST_TAGS)
    const notes = Array.from({ length: MOST_NOTES }, () => note('x'))
    expect(() => told([...notes, note('x')])).toThrow(expect.objectContaining({ code: 'TOO_MANY_NOTES' }))
  })

  it('with an erased text do not count toward the most', () => {
    const tags = Array.from({ length: MOST_TAGS }, (_, n) => tag(`t${n}`))
    const notes = Array.from({ length: MOST_NOTES }, () => note('x'))
    const { whole } = told([...tags, ...notes])
    let folded: AnnotationState | null = null
    for (const event of whole) {
      const body = annotation.erasing.residue(event.type, event.body, '')
      folded = evolveAnnotation(folded, { ...event, body } as AnnotationEvent)
    }
    const place = { ...PLACE, revision: whole.length - 1 }
    for (const command of [tag('t0'), note('x')])
      expect(annotation.decide(folded, place, command, CONTEXT).drafts).toHaveLength(1)
  })

  it('have the same digest when their texts are erased', () => {
    const { whole, state } = told([tag('a'), note('personal'), tag('b'), untag('a')])
    let folded: AnnotationState | null = null
    for (const event of whole) {
      const body = annotation.erasing.says(event.type)
        ? annotation.erasing.residue(event.type, event.body, '')
        : event.body
      expect(JSON.stringify(body)).not.toMatch(/"a"|"b"|personal/)
      folded = evolveAnnotation(folded, { ...event, body } as AnnotationEvent)
    }
    expect(annotationDigest(folded!)).toBe(annotationDigest(state!))
  })
})
