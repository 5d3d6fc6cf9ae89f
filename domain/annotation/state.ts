import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import type { AnnotationEvent } from './events.ts'

/** The tags and notes that a run has now, by the revision that added them. */
export interface AnnotationState {
  /** Null: the text was erased. */
  readonly tags: ReadonlyMap<number, string | null>
  /** False: the text was erased. */
  readonly notes: ReadonlyMap<number, boolean>
}

/** Increase this when the digested view changes. */
export const ANNOTATION_FOLD = 1

const NONE: AnnotationState = { tags: new Map(), notes: new Map() }

/** The state after an event. Throws if the event cannot follow. */
export function evolveAnnotation(before: AnnotationState | null, event: AnnotationEvent): AnnotationState {
  const { tags, notes } = before ?? NONE
  switch (event.type) {
    case 'tag_added':
      return { tags: new Map([...tags, [event.revision, event.body.tag]]), notes }
    case 'note_added':
      return { tags, notes: new Map([...notes, [event.revision, event.body.text !== null]]) }
    case 'tag_removed': {
      const left = new Map(tags)
      if (!left.delete(event.body.added)) throw new Error('tag_removed of a tag that the run does not have')
      return { tags: left, notes }
    }
    case 'note_removed': {
      const left = new Map(notes)
      if (!left.delete(event.body.added)) throw new Error('note_removed of a note that the run does not have')
      return { tags, notes: left }
    }
  }
}

/** Hex SHA-256 over the revisions, without the texts: texts can be erased. */
export const annotationDigest = ({ tags, notes }: AnnotationState): string =>
  sha256(
    `keepup-annotation-fold-${ANNOTATION_FOLD}\n${canonicalText({ tags: [...tags.keys()], notes: [...notes.keys()] })}`,
  )
