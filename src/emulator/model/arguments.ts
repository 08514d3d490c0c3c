/** Arguments for a call: what the model wants to say, adapted to the schema of the tool it was given. */

import { isObject, type JsonObject, objectOf, stringOf } from "../../base/support/index.ts";
import { type Hint, valueFor } from "./schema-value.ts";
import { pathIn, citiesIn, quotedIn, shortly, type Turn } from "./turn.ts";

export function argumentsFor(turn: Turn, name: string, wanted: JsonObject): JsonObject {
  const tool = turn.view.tools.find((one) => one["name"] === name);
  const schema = tool?.["parameters"];
  if (!isObject(schema)) return wanted;
  const known = objectOf(schema["properties"]);
  const fits = Object.keys(wanted).every((key) => Object.hasOwn(known, key));
  const hints = hintsFrom(turn.text);
  const hint: Hint = (property) => {
    if (fits) return stringOf(wanted[property]); // nothing beyond what the model wants to say
    // A synonym, such as `location` for `city`.
    return /city|place|location|town/.test(property.toLowerCase())
      ? (stringOf(wanted["city"]) ?? hints(property))
      : hints(property);
  };
  const value = objectOf(valueFor(schema, hint));
  return fits ? { ...value, ...wanted } : value;
}

/** Guesses the value for a property of this name from the user's text. */
export function hintsFrom(text: string): Hint {
  const quoted = quotedIn(text);
  const cities = citiesIn(text);
  return (name) => {
    const plain = name.toLowerCase();
    if (/path|file|dir|folder/.test(plain)) return pathIn(text) ?? quoted[0];
    if (/city|place|location|town|country/.test(plain)) return cities[0] ?? quoted[0] ?? "Paris";
    if (/pattern|query|search|term|keyword/.test(plain)) return quoted[0] ?? longestWord(text);
    if (/command|cmd|script/.test(plain)) return quoted[0] ?? "date";
    if (/number|count|amount|limit|size|age|year|[ab]$/.test(plain)) return /-?\d+(?:\.\d+)?/.exec(text)?.[0];
    if (/url|link/.test(plain)) return /https?:\/\/\S+/.exec(text)?.[0] ?? "https://example.com/";
    if (/name|title/.test(plain)) return quoted[0] ?? cities[0];
    if (/text|content|message|body|answer|summary|description|reason/.test(plain)) return shortly(text, 120);
    return undefined;
  };
}

function longestWord(text: string): string | undefined {
  const words = text.match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  return words.toSorted((a, b) => b.length - a.length)[0];
}
