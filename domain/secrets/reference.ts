/** The text in the place of a secret, wherever the text goes; see secrets/redactor.ts. */
export const REFERENCE = /secret:ku_[0-9a-hjkmnp-tv-z]{26}/g
export const WHOLE_REFERENCE = new RegExp(`^${REFERENCE.source}$`)
