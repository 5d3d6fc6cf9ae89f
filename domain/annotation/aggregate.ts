import { defineKind } from '../stream/define-kind.ts'
import type { Emit } from '../stream/emitter.ts'
import { AnnotationError, noteUnknown } from './errors.ts'
import { annotationBodies } from './events.ts'
import { MOST_NOTES, MOST_TAGS } from './limits.ts'
import { ANNOTATION_FOLD, type AnnotationState, annotationDigest, evolveAnnotation } from './state.ts'

/** `note`: the revision that added the note. */
export type AnnotationCommand =
  | { readonly kind: 'add_tag'; readonly tag: string }
  | { readonly kind: 'remove_tag'; readonly tag: string }
  | { readonly kind: 'add_note'; readonly text: string }
  | { readonly kind: 'remove_note'; readonly note: number }

/**
 * Tags and notes on a run: `annotation-<run id>`. The stream is not the run's, so a change neither wakes nor conflicts
 * with a driver, and a run that has ended accepts it.
 */
export const annotation = defineKind({
  kind: 'annotation',
  bodies: annotationBodies,
  fold: ANNOTATION_FOLD,
  evolve: evolveAnnotation,
  decide,
  digest: annotationDigest,
  residues: { tag_added: () => ({ tag: null }), note_added: () => ({ text: null }) },
  reject: (code, message) => new AnnotationError(code, message),
})

/** Emits one event, or none if the run has or lacks the tag already. Throws AnnotationError if the command is refused. */
function decide(state: AnnotationState | null, command: AnnotationCommand, emit: Emit<typeof annotationBodies>): void {
  const tags = [...(state?.tags ?? [])]
  const notes: AnnotationState['notes'] = state?.notes ?? new Map()
  switch (command.kind) {
    case 'add_tag': {
      const { tag } = command
      if (tags.some(([_, has]) => has === tag)) return
      // Nobody can name an erased tag or note to remove it, so neither counts.
      if (tags.filter(([_, has]) => has !== null).length >= MOST_TAGS)
        throw new AnnotationError('TOO_MANY_TAGS', `the run has ${MOST_TAGS} tags; remove one first`)
      return emit('tag_added', { tag })
    }
    case 'remove_tag': {
      const found = tags.find(([_, has]) => has === command.tag)
      if (found !== undefined) emit('tag_removed', { added: found[0] })
      return
    }
    case 'add_note':
      if ([...notes.values()].filter((hasText) => hasText).length >= MOST_NOTES)
        throw new AnnotationError('TOO_MANY_NOTES', `the run has ${MOST_NOTES} notes; remove one first`)
      return emit('note_added', { text: command.text })
    case 'remove_note': {
      const { note } = command
      if (!notes.has(note)) throw noteUnknown(note)
      return emit('note_removed', { added: note })
    }
  }
}
