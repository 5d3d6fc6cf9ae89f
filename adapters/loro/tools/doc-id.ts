import { z } from 'zod'

/** The argument with the id of a document. */
export const docId = z
  .string()
  .regex(/^[0-9a-z]{1,64}$/, 'expected the id of a document, as list_documents shows it')
  .describe('Id of the document')
