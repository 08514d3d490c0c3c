/**
 * A session in another form, as a download.
 *
 * @module
 */

export interface Exported {
  readonly mediaType: string;
  readonly fileName: string;
  readonly body: string | Uint8Array;
}
