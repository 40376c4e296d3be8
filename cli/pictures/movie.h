// Pictures of `tribo render`, one after the other, into a PNG file or, by ffmpeg, an MP4 file.
#ifndef TRIBO_CLI_MOVIE_H_
#define TRIBO_CLI_MOVIE_H_

#include <stdbool.h>

typedef struct Movie Movie;

// Whether a file of this name can be written: .png, or .mp4 where ffmpeg is installed. False after
// a complaint that says what was expected.
bool movie_can_write(const char* path, const char* command);

// Start the file `path`, whose final name is `target`: `frames` pictures over `seconds` seconds.
// NULL after a complaint.
Movie* movie_open(const char* path, const char* target, int width, int height, int frames,
                  double seconds, const char* command);

// Add a picture: width x height x 3 bytes. False after a complaint.
bool movie_add(Movie* movie, const unsigned char* rgb);

// Finish the file and free. The number of its pictures; 0 if it is not complete.
int movie_close(Movie* movie);

#endif
