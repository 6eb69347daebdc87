// The photos of the request in their order: chosen or dropped, shown, taken away, and what the server said about each.

const KILO = 1000;

function byteCount(bytes) {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(KILO)), units.length - 1);
  return `${(bytes / KILO ** power).toFixed(power > 1 ? 1 : 0)} ${units[power]}`;
}

/** An element with these properties and children; texts become text, whatever they hold. */
function made(tag, properties, ...children) {
  const result = Object.assign(document.createElement(tag), properties);
  result.append(...children);
  return result;
}

// HEIC and files that are no pictures have none; the server reads the former.
function thumbnail(file) {
  const picture = made('img', {className: 'thumbnail', alt: '', decoding: 'async', src: URL.createObjectURL(file)});
  picture.addEventListener('load', () => URL.revokeObjectURL(picture.src));
  picture.addEventListener('error', () => {
    URL.revokeObjectURL(picture.src);
    picture.replaceWith(made('span', {className: 'thumbnail'}, 'no preview'));
  });
  return picture;
}

class PhotoList {
  /** list: the <ol>; changed(): after each change. */
  constructor(list, changed) {
    this.list = list;
    this.changed = changed;
    this.photos = [];  // {file, item, problem}
  }

  add(files) {
    for (const file of files) {
      const photo = {file, problem: made('p', {className: 'problem'})};
      const remove = made('button', {type: 'button', title: 'Remove', ariaLabel: `Remove ${file.name}`}, '\u00d7');
      remove.addEventListener('click', () => this.#remove(photo));
      const size = made('span', {className: 'fine'}, byteCount(file.size));
      photo.item = made('li', {}, thumbnail(file), made('span', {className: 'name'}, file.name, ' ', size), remove, photo.problem);
      this.photos.push(photo);
      this.list.append(photo.item);
    }
    this.changed();
  }

  clear() {
    this.photos = [];
    this.list.replaceChildren();
    this.changed();
  }

  // The keyboard's focus goes to the neighbour's button, as the next one may be unwanted too.
  #remove(photo) {
    const index = this.photos.indexOf(photo);
    this.photos.splice(index, 1);
    photo.item.remove();
    this.photos[Math.min(index, this.photos.length - 1)]?.item.querySelector('button').focus();
    this.changed();
  }

  get numBytes() { return this.photos.reduce((sum, {file}) => sum + file.size, 0); }
}

/** Files dropped anywhere on the page; over(yes): whether some are held above it. Folders are left out: their names go to refused(names). */
function takeDrops(over, take, refused) {
  const hasFiles = (event) => event.dataTransfer?.types.includes('Files');
  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();  // or the browser would leave the page for the photo
    over(true);
  });
  document.addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) over(false);  // left the window
  });
  document.addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(false);
    const items = [...event.dataTransfer.items].filter((item) => item.kind === 'file');
    const isFolder = (item) => item.webkitGetAsEntry?.()?.isDirectory;
    const [folders, files] = [true, false].map((wanted) => items.filter((item) => !!isFolder(item) === wanted).map((item) => item.getAsFile()));
    if (folders.length) refused(folders.map((folder) => folder.name));
    take(files);
  });
}
