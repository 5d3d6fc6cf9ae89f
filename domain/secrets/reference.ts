/** The replacement of a secret in every text; see secrets/redactor.ts. */
export const REFERENCE = /secret:ku_[0-9a-hjkmnp-tv-z]{26}/g
export const WHOLE_REFERENCE = new RegExp(`^${REFERENCE.source}$`)
